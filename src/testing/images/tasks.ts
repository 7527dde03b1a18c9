import type { JsonObject } from '../../types.ts';
import type { ImageTaskShape } from '../faults/quirks.ts';

/** An image task of the emulator. It progresses with its clock, without timers. */
export interface ImageTask {
  readonly id: string;
  readonly shape: ImageTaskShape;
  readonly endsAt: number;
  readonly isFailed: boolean;
  /** The response that the call would have received without a task. */
  readonly answer: JsonObject;
}

/** The image tasks of an emulator. */
export class ImageTasks {
  #tasks = new Map<string, ImageTask>();

  add(task: ImageTask): void {
    this.#tasks.set(task.id, task);
  }

  get(id: string): ImageTask | undefined {
    return this.#tasks.get(id);
  }

  clear(): void {
    this.#tasks = new Map();
  }
}
