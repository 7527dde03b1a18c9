import { useEffect, useRef } from 'preact/hooks';

/** Calls `stop` when the user presses Escape, unless an input method or a menu uses the key. */
export function useEscape(stop: () => void): void {
  const current = useRef(stop);
  current.current = stop;
  useEffect(() => {
    const onKeyDown = ({ key, isComposing, defaultPrevented }: KeyboardEvent): void => {
      if (key === 'Escape' && !isComposing && !defaultPrevented) current.current();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
