export { parseJSON } from './objects.ts';
