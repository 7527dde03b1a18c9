import { defineComponent, h, ref } from 'vue';
import type { Measured } from './measure.ts';

const faults = [
  ['cut-after-charge', 'The connection is lost after the charge'],
  ['page-502', 'A proxy answers 502 after the charge'],
  ['half-answer', 'The response is cut'],
] as const;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Breaks one image call in the browser of the visitor, and counts its charges by client. */
export default defineComponent(() => {
  const rows = ref<readonly Measured[]>([]);
  const chosen = ref('');
  const message = ref('');
  const run = async (name: string): Promise<void> => {
    chosen.value = name;
    message.value = 'Running…';
    try {
      // Loaded at the first press: the client and the emulator are larger than this page.
      const { measureCharges } = await import('./measure.ts');
      rows.value = await measureCharges(name);
      const [own, openai] = rows.value;
      message.value = `model-gateway: ${plural(own?.charges ?? 0, 'charge')}. openai: ${plural(openai?.charges ?? 0, 'charge')}.`;
    } catch (error) {
      message.value = `The comparison failed: ${String(error)}`;
    }
  };
  return () =>
    h('section', { class: 'live-charges', 'aria-label': 'Break an image call' }, [
      h('p', [
        h('strong', 'Break an image call, here. '),
        'This client and the default retry rules of others call an emulated gateway in your browser. Nothing is sent to a server.',
      ]),
      h(
        'p',
        { class: 'live-faults' },
        faults.map(([name, label]) =>
          h(
            'button',
            {
              type: 'button',
              'aria-pressed': chosen.value === name,
              onClick: () => void run(name),
            },
            label,
          ),
        ),
      ),
      h('p', { 'aria-live': 'polite', role: 'status' }, message.value),
      rows.value.length === 0
        ? null
        : h('table', [
            h(
              'thead',
              h(
                'tr',
                ['Client', 'Charges', 'The caller'].map((name) => h('th', { scope: 'col' }, name)),
              ),
            ),
            h(
              'tbody',
              rows.value.map(({ client, requests, charges, result }) =>
                h('tr', [
                  h('td', client),
                  h(
                    'td',
                    { 'data-label': 'Charges:' },
                    `${charges} (${plural(requests, 'request')})`,
                  ),
                  h('td', { 'data-label': 'The caller:' }, result),
                ]),
              ),
            ),
          ]),
    ]);
});
