/** The shared worker: all tabs of a browser listen to one stream. */

import { Streams, type Listener, type Told } from "./stream";

const streams = new Streams();

(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  let url: string | null = null;
  const listener: Listener = (told: Told) => port.postMessage(told);
  port.onmessage = (message: MessageEvent<{ url: string | null }>) => {
    if (url !== null && url !== message.data.url) streams.leave(url, listener);
    url = message.data.url;
    if (url !== null) streams.listen(url, listener);
  };
};
