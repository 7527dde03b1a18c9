/** Colours by role. Each is a class, so that a dark page gets its own set. */
const light = {
  page: '#ffffff',
  line: '#d0d7de',
  text: '#1f2328',
  muted: '#59636e',
  good: '#116329',
  goodFill: '#dafbe1',
  fair: '#953800',
  fairFill: '#fff1e5',
  poor: '#a40e26',
  poorFill: '#ffd8d3',
  plain: '#59636e',
  plainFill: '#f6f8fa',
} as const;

type Role = keyof typeof light;

const dark: Readonly<Record<Role, string>> = {
  page: '#0d1117',
  line: '#3d444d',
  text: '#f0f6fc',
  muted: '#9198a1',
  good: '#56d364',
  goodFill: '#12301c',
  fair: '#f0a35e',
  fairFill: '#3a2412',
  poor: '#ffa198',
  poorFill: '#541c1e',
  plain: '#9198a1',
  plainFill: '#161b22',
};

function rules(colours: Readonly<Record<Role, string>>): string {
  return Object.entries(colours)
    .map(([role, colour]) => `.${role}{fill:${colour}}`)
    .join('');
}

function escapeXML(plain: string): string {
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface TextStyle {
  readonly role?: Role;
  readonly size?: number;
  readonly bold?: boolean;
  readonly anchor?: 'start' | 'middle' | 'end';
}

/** One line of text; `y` is its baseline. */
export function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { role = 'text', size = 13, bold = false, anchor = 'start' } = style;
  const weight = bold ? ' font-weight="600"' : '';
  return `<text class="${role}" x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${weight}>${escapeXML(content)}</text>`;
}

/** A filled rectangle with round corners. */
export function box(x: number, y: number, width: number, height: number, role: Role): string {
  return `<rect class="${role}" x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>`;
}

/** A thin horizontal line. */
export function rule(x: number, y: number, width: number): string {
  return `<rect class="line" x="${x}" y="${y}" width="${width}" height="1"/>`;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The alternative text for screen readers. */
  readonly title: string;
  readonly description: string;
  readonly body: readonly string[];
}

/**
 * A whole picture on its own ground, readable on light and dark pages. It needs no font, script or
 * file from anywhere else.
 */
export function picture({ width, height, title, description, body }: Picture): string {
  const font = "-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description" font-family="${font}">`,
    `<title id="title">${escapeXML(title)}</title>`,
    `<desc id="description">${escapeXML(description)}</desc>`,
    `<style>${rules(light)}@media (prefers-color-scheme:dark){${rules(dark)}}</style>`,
    `<rect class="line" width="${width}" height="${height}" rx="8"/>`,
    `<rect class="page" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="7"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}
