/** A piece of the pipe: how full it is, whether water flows, and the little history of its stage. */

import type { Stage } from "../../api/operate";

const HEIGHT = 44;

/** `level` from 0 to 1; a little water stays in an empty pipe. */
export function Pipe({ level, flowing, gate }: { level: number; flowing: boolean; gate: boolean }) {
  const inner = HEIGHT - 12;
  const top = 6 + inner * (1 - Math.min(0.92, Math.max(0.14, level)));
  const wave = (dy: number) =>
    `M-40 ${top + dy}` + "q10 -4 20 0t20 0".repeat(12).replace(/q/g, " q") + ` V${HEIGHT - 6} H-40 Z`;
  return (
    <svg className={flowing ? "pipe flowing" : "pipe"} viewBox={`0 0 200 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <rect className="pipe-inside" x="0" y="6" width="200" height={inner} />
      <g className="pipe-waves">
        <path className="pipe-deep" d={wave(2)} />
        <path className="pipe-water" d={wave(0)} />
      </g>
      <path className="pipe-wall" d={`M0 6H200M0 ${HEIGHT - 6}H200`} />
      {gate ? <path className="pipe-gate" d={flowing ? `M198 0v${HEIGHT / 3}` : `M198 0v${HEIGHT}`} /> : null}
    </svg>
  );
}

/** Sixty minutes: what passed, and on top of it what failed. */
export function StageHistory({ stage }: { stage: Stage }) {
  const minutes = stage.history;
  const most = Math.max(1, ...minutes.map((minute) => minute.done + minute.failed));
  const label = `${stage.stage}: ${stage.done_hour} passed and ${stage.failed_hour} failed within the last hour`;
  return (
    <svg className="path-history" viewBox="0 0 240 30" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect className="sparkline-base" x="0" y="29" width="240" height="1" />
      {minutes.map((minute, index) => {
        const tall = (n: number) => (n === 0 ? 0 : Math.max(1.5, (n / most) * 28));
        const done = tall(minute.done);
        const failed = tall(minute.failed);
        return (
          <g key={minute.at}>
            <rect className="tone-fill-good" x={index * 4} y={29 - done} width="3" height={done} />
            <rect className="tone-fill-bad" x={index * 4} y={29 - done - failed} width="3" height={failed} />
          </g>
        );
      })}
    </svg>
  );
}
