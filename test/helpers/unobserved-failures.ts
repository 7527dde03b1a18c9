// Lets streams, stream() and runTools() fail in every way without a listener, and prints their number at
// the end. An unhandled rejection ends the process.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ChatCompletionStream, Gateway, responseFormat, Stream, tool } from '../../src/index.ts';
import { behaviourNames } from './faulty-server.ts';
import { failUnobserved, limits } from './fail-unobserved.ts';

// Copies of streams have no logger to turn off.
console.warn = () => {};

const client = new Gateway({
  baseURL: process.env['GATEWAY_BASE_URL'],
  apiKey: 'sk-test',
  ...limits,
});

const kit = { client, ChatCompletionStream, responseFormat, Stream, tool };
const count = await failUnobserved(kit, behaviourNames);

// A partly read stream is closed when it is garbage collected.
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
setInterval(() => typeof collect === 'function' && collect(), 50).unref();
process.on('exit', () => console.log(`${count} failures`));
