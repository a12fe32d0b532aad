/** Why something did not work: the code, and the message without repeating it. */

export function Reason({ code, message }: { code: string | null | undefined; message: string | null | undefined }) {
  const said = code && message?.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
  return (
    <>
      {code ? <code>{code}</code> : null} {said ? <bdi>{said}</bdi> : null}
    </>
  );
}
