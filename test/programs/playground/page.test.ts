// The parts of the page that need no browser.
import { describe, expect, test } from 'vitest';
import {
  decodeEntities,
  GrowingMarkdown,
  safeHref,
} from '../../../src/programs/playground/page/text/markdown.ts';
import {
  buildHistory,
  currentCalls,
  editLast,
  type Message,
} from '../../../src/programs/playground/page/panels/chat/conversation.ts';
import {
  changedSettings,
  mergeSettings,
} from '../../../src/programs/playground/page/setup/settings.ts';
import { newView } from '../../../src/programs/playground/live-call.ts';
import type { CallView } from '../../../src/programs/playground/protocol.ts';

const user = (content: Message['content']): Message => ({ role: 'user', content });

function chat(id: string, messages: readonly Message[], changes: Partial<CallView> = {}): CallView {
  const body = { model: 'm-large', messages: structuredClone(messages) };
  return { ...newView(id, { kind: 'chat', body }, new Map()), text: `answer ${id}`, ...changes };
}

describe('Markdown', () => {
  const text = [
    '# Boats',
    'Two kinds,\nas follows:',
    '- sail\n- row\n\n  with oars',
    '| Name | Size |\n| --- | --: |\n| A | 4 |',
    '```ts\nconst a = "[x](y)";\n\n// end\n```',
    '> quoted',
    '1. one\n2. two',
    'The [end](https://example.com).',
  ].join('\n\n');

  test('returns the same blocks for text that grows by one character', () => {
    const growing = new GrowingMarkdown();
    let blocks = growing.parse('');
    for (let end = 1; end <= text.length; end += 1) blocks = growing.parse(text.slice(0, end));

    expect(blocks).toEqual(new GrowingMarkdown().parse(text));
    const types = blocks.map(({ type }) => type).filter((type) => type !== 'space');
    expect(types).toEqual([
      'heading',
      'paragraph',
      'list',
      'table',
      'code',
      'blockquote',
      'list',
      'paragraph',
    ]);
  });

  test('keeps finished blocks as the same objects', () => {
    const growing = new GrowingMarkdown();
    const [first] = growing.parse(text);

    expect(growing.parse(`${text}\n\nMore.`)[0]).toBe(growing.parse(`${text}\n\nMore. And`)[0]);
    expect(growing.parse('Another text')[0]).not.toBe(first);
  });

  test.each([
    { href: 'https://example.com/a', opened: 'https://example.com/a' },
    { href: 'mailto:a@example.com', opened: 'mailto:a@example.com' },
    { href: 'javascript:alert(1)', opened: undefined },
    { href: 'JAVASCRIPT:alert(1)', opened: undefined },
    { href: 'data:text/html,x', opened: undefined },
    { href: '/api/calls', opened: undefined },
    { href: '#/requests', opened: undefined },
  ])('the link $href opens $opened', ({ href, opened }) => {
    expect(safeHref(href)).toBe(opened);
  });

  test('character references are decoded once', () => {
    expect(decodeEntities('a &lt;b&gt; &amp;lt; &#8364; &#x20AC; &nope; &#9999999;')).toBe(
      'a <b> &lt; € € &nope; &#9999999;',
    );
  });
});

describe('a conversation', () => {
  const first = chat('first', [user('One')]);
  const second = chat('second', [...buildHistory(first), user('Two')]);
  const third = chat('third', [...buildHistory(second), user('Three')]);

  test('a retry replaces its call and all calls after it', () => {
    const retried = chat('retried', [...buildHistory(first), user('Two')], { replaces: 'second' });
    const next = chat('next', [...buildHistory(retried), user('Four')]);

    const current = currentCalls([first, second, third, retried, next]);

    expect(current.map(({ id }) => id)).toEqual(['first', 'retried', 'next']);
  });

  test('a retry of a removed call is added', () => {
    const retried = chat('retried', [user('One')], { replaces: 'gone' });

    expect(currentCalls([first, retried])).toEqual([first, retried]);
  });

  test('an edit keeps the messages before, without the system prompt, and the images', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } } as const;
    const call = chat('call', [
      { role: 'system', content: 'Be brief.' },
      user('One'),
      { role: 'assistant', content: 'answer' },
      user([{ type: 'text', text: 'What is this?' }, image]),
    ]);

    expect(editLast(call, 'And this?')).toEqual([
      user('One'),
      { role: 'assistant', content: 'answer' },
      user([{ type: 'text', text: 'And this?' }, image]),
    ]);
    expect(editLast(first, 'Other')).toEqual([user('Other')]);
  });
});

describe('settings of a link', () => {
  const initial = { prompt: '', size: '', strict: false };

  test.each([
    { settings: { prompt: 'A boat', strict: true }, expected: { prompt: 'A boat', strict: true } },
    { settings: { prompt: 4, strict: 'yes', other: 'x', __proto__: { size: 'x' } }, expected: {} },
    { settings: null, expected: {} },
    { settings: 'text', expected: {} },
  ])('$settings: only known settings of the right type are taken', ({ settings, expected }) => {
    expect(mergeSettings(initial, settings)).toEqual({ ...initial, ...expected });
  });

  test('settings of a link contain only changed values', () => {
    expect(changedSettings(initial, { prompt: 'A boat', size: '', strict: true })).toEqual({
      prompt: 'A boat',
      strict: true,
    });
  });
});
