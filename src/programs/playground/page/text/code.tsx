import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { JSX } from 'preact';

const lowlight = createLowlight({ bash, css, go, json, python, sql, typescript, xml, yaml });
lowlight.registerAlias({ bash: ['curl', 'console'], typescript: ['javascript', 'js', 'jsx'] });

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Longer code is shown without colours, in characters. */
const limit = 20_000;

function render(node: Node, key: number): JSX.Element | string {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const { className } = node.properties;
  return (
    <span key={key} class={Array.isArray(className) ? className.join(' ') : ''}>
      {node.children.map(render)}
    </span>
  );
}

/** Code in colours, if its language is known. */
export function Code({
  text,
  language,
}: {
  text: string;
  language: string | undefined;
}): JSX.Element {
  const name = /^[\w+-]+/.exec(language ?? '')?.[0].toLowerCase() ?? '';
  if (text.length > limit || !lowlight.registered(name)) return <>{text}</>;
  return <>{lowlight.highlight(name, text).children.map(render)}</>;
}
