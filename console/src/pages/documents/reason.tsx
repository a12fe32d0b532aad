/** Why something did not work: the code, and the message without repeating it. */

/** A message that begins with its code, without the code. */
export function withoutCode(code: string | null | undefined, message: string): string {
  return code && message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
}

/** Whether the message has the remedy in it already. */
export function says(message: string, remedy: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[.\s]+/g, " ").trim();
  return plain(message).includes(plain(remedy));
}

export function Reason({ code, message }: { code: string | null | undefined; message: string | null | undefined }) {
  const said = message ? withoutCode(code, message) : message;
  return (
    <>
      {code ? <code>{code}</code> : null}
      {code && said ? ": " : null}
      {said ? <bdi>{said}</bdi> : null}
    </>
  );
}
