import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from '../fields.tsx';

/** An image and its mask, which has the same size. */
interface Painted {
  readonly image: HTMLImageElement;
  readonly mask: HTMLCanvasElement;
}

function load(file: File): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener('load', () => resolve(image));
    image.addEventListener('error', () => reject(new Error('This file is not an image.')));
    image.src = URL.createObjectURL(file);
  });
}

/** Creates the mask file, which has the size of the image and is transparent where it may change. */
function maskFile({ image, mask }: Painted): Promise<File | undefined> {
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const pen = canvas.getContext('2d');
  if (pen === null) return Promise.resolve(undefined);
  pen.drawImage(image, 0, 0);
  pen.globalCompositeOperation = 'destination-out';
  pen.drawImage(mask, 0, 0);
  return new Promise((resolve) => {
    canvas.toBlob((blob) => {
      resolve(blob === null ? undefined : new File([blob], 'mask.png', { type: 'image/png' }));
    }, 'image/png');
  });
}

const steps: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * Marks the area of an image that may change, with a pointer or with the arrow keys and the space bar.
 *
 * @param onMask - Receives the mask after each change; `undefined` if it is empty.
 */
export function MaskCanvas({
  file,
  onMask,
}: {
  file: File;
  onMask: (mask: File | undefined) => void;
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const painted = useRef<Painted>(undefined);
  const last = useRef<readonly [number, number]>(undefined);
  const [cursor, setCursor] = useState<readonly [number, number]>([0.5, 0.5]);
  const [brush, setBrush] = useState(12);
  const [isMarked, setIsMarked] = useState(false);
  const [problem, setProblem] = useState('');

  const draw = (at?: readonly [number, number]): void => {
    const { current: parts } = painted;
    const pen = canvas.current?.getContext('2d');
    if (parts === undefined || !pen || canvas.current === null) return;
    const { width, height } = canvas.current;
    pen.clearRect(0, 0, width, height);
    pen.drawImage(parts.image, 0, 0);
    pen.globalAlpha = 0.55;
    pen.drawImage(parts.mask, 0, 0);
    pen.globalAlpha = 1;
    if (at === undefined) return;
    pen.lineWidth = Math.max(2, width / 300);
    pen.strokeStyle = '#ffffff';
    pen.beginPath();
    pen.arc(at[0] * width, at[1] * height, (brush / 200) * width, 0, 7);
    pen.stroke();
  };

  useEffect(() => {
    let isCurrent = true;
    onMask(undefined);
    setIsMarked(false);
    const show = async (): Promise<void> => {
      try {
        const image = await load(file);
        if (!isCurrent || canvas.current === null) return;
        const mask = document.createElement('canvas');
        for (const layer of [canvas.current, mask]) {
          layer.width = image.naturalWidth;
          layer.height = image.naturalHeight;
        }
        painted.current = { image, mask };
        draw();
      } catch (error) {
        setProblem(error instanceof Error ? error.message : 'This file cannot be read.');
      }
    };
    void show();
    return () => {
      isCurrent = false;
    };
  }, [file]);

  const changed = (): void => {
    setIsMarked(true);
    if (painted.current !== undefined) void maskFile(painted.current).then(onMask);
  };
  const mark = (x: number, y: number): void => {
    const pen = painted.current?.mask.getContext('2d');
    if (!pen) return;
    const { width, height } = pen.canvas;
    const from = last.current ?? [x, y];
    pen.strokeStyle = '#e0218a';
    pen.lineWidth = (brush / 100) * width;
    pen.lineCap = 'round';
    pen.beginPath();
    pen.moveTo(from[0] * width, from[1] * height);
    pen.lineTo(x * width + 0.01, y * height);
    pen.stroke();
    last.current = [x, y];
    draw();
  };
  const fill = (x: number, y: number, width: number, height: number): void => {
    const pen = painted.current?.mask.getContext('2d');
    if (!pen) return;
    pen.fillStyle = '#e0218a';
    pen.fillRect(
      x * pen.canvas.width,
      y * pen.canvas.height,
      width * pen.canvas.width,
      height * pen.canvas.height,
    );
    draw();
    changed();
  };
  const place = (event: PointerEvent): [number, number] => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return [0, 0];
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  if (problem !== '')
    return (
      <p class="warning" role="alert">
        {problem}
      </p>
    );
  return (
    <div class="mask">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label="Image with a mask. Paint over the area that may change. On the keyboard, move with the arrow keys and mark with the space bar."
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          last.current = undefined;
          mark(...place(event));
        }}
        onPointerMove={(event) => {
          if (event.buttons !== 0) mark(...place(event));
          else draw(place(event));
        }}
        onPointerUp={changed}
        onPointerLeave={() => draw()}
        onKeyDown={(event) => {
          const step = steps[event.key];
          if (step !== undefined) {
            event.preventDefault();
            const next = cursor.map((value, axis) =>
              Math.min(1, Math.max(0, value + (step[axis] ?? 0) * 0.04)),
            );
            const [x = 0, y = 0] = next;
            setCursor([x, y]);
            draw([x, y]);
          }
          if (event.key === ' ') {
            event.preventDefault();
            last.current = undefined;
            mark(...cursor);
            changed();
          }
        }}
      />
      <div class="row tight">
        <Field label="Brush">
          {(id) => (
            <input
              id={id}
              type="range"
              min="2"
              max="40"
              value={brush}
              onInput={({ currentTarget }) => setBrush(Number(currentTarget.value))}
            />
          )}
        </Field>
        <button type="button" class="quiet" onClick={() => fill(0.25, 0.25, 0.5, 0.5)}>
          Mark the center
        </button>
        <button
          type="button"
          class="quiet"
          disabled={!isMarked}
          onClick={() => {
            const pen = painted.current?.mask.getContext('2d');
            pen?.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
            draw();
            setIsMarked(false);
            onMask(undefined);
          }}
        >
          Clear the mask
        </button>
        <span class="small faint">
          {isMarked ? 'The marked area may change.' : 'Without a mask, the whole image may change.'}
        </span>
      </div>
    </div>
  );
}
