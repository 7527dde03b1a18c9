/** Receives uploads, forgets them, and says how large they were. Prints its port; ends with its standard input. */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (data: Uint8Array) => {
    bytes += data.byteLength;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text: String(bytes) }));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit());
