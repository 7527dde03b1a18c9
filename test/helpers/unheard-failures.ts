// Makes every stream, helper and run fail in every way while nobody listens, and prints how many there
// were when all are over. Any rejection that is not handled ends it, because Node runs in strict mode.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ChatCompletionStream, Gateway, responseFormat, Stream, tool } from '../../src/index.ts';
import { behaviourNames } from './faulty-server.ts';
import { failUnheard, limits } from './unheard-ways.ts';

// Copies of streams have no logger that could be turned off.
console.warn = () => {};

const client = new Gateway({
  baseURL: process.env['GATEWAY_BASE_URL'],
  apiKey: 'sk-test',
  ...limits,
});

const kit = { client, ChatCompletionStream, responseFormat, Stream, tool };
const count = await failUnheard(kit, behaviourNames);

// A stream that was partly read and then dropped is closed when it is collected.
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
setInterval(() => typeof collect === 'function' && collect(), 50).unref();
process.on('exit', () => console.log(`${count} failures`));
