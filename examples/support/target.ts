import { createInterface } from 'node:readline/promises';

/** `true` if the command line has `--real`, also as `npm run demo --real`, which npm keeps for itself. */
export const isReal =
  process.argv.includes('--real') || (process.env['npm_config_real'] ?? 'false') !== 'false';

/**
 * Asks before a real gateway is called. Without `--real` nothing is asked, because the emulator is used.
 *
 * @param what - what will be called, such as `The demo makes eight calls`
 * @returns the address of the gateway, or `undefined` for the emulator
 */
export async function chooseGateway(what: string): Promise<string | undefined> {
  const { GATEWAY_BASE_URL: url = '', GATEWAY_API_KEY: key = '' } = process.env;
  if (!isReal) {
    if (url !== '')
      console.log(`(GATEWAY_BASE_URL is not used. To call ${url}, which charges, add: -- --real)`);
    return undefined;
  }
  if (url === '' || key === '') {
    console.error('--real requires GATEWAY_BASE_URL and GATEWAY_API_KEY.');
    process.exit(2);
  }
  console.log(`${what} ${url}, which charges for it.`);
  if (process.argv.includes('--yes')) return url;
  if (!process.stdin.isTTY) {
    console.error('Nothing was called, because there is no terminal to ask. To agree, add --yes.');
    process.exit(2);
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question('Continue? [y/N] ');
  lines.close();
  if (/^y(es)?$/i.test(answer.trim())) return url;
  console.log('Nothing was called.');
  process.exit(1);
}
