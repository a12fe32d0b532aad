/** Two texts line by line: which lines are in both, in one, in the other. */

export interface Line {
  readonly text: string;
  readonly only: "a" | "b" | null;
}

const MOST = 400;

/** The longest common subsequence of lines; long texts are cut, since a traceback is not longer. */
export function diffLines(a: readonly string[], b: readonly string[]): Line[] {
  const left = a.slice(0, MOST);
  const right = b.slice(0, MOST);
  const width = right.length + 1;
  const common = new Uint16Array((left.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ text: left[i] as string, only: null });
      i++;
      j++;
    } else if (j >= right.length || (i < left.length && at(i + 1, j) >= at(i, j + 1))) lines.push({ text: left[i++] as string, only: "a" });
    else lines.push({ text: right[j++] as string, only: "b" });
  }
  return lines;
}
