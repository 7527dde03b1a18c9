import { render } from 'preact';
import { Shell } from './shell.tsx';
import { follow } from './state.ts';

const place = document.querySelector('#app');
if (place !== null) render(<Shell />, place);
void follow();
