import { inspect } from 'node:util'

/**
 * Something that travels with a step and must not be printed or written down with it. Like a Secret it gives `***` to
 * everyone who asks but the one who reveals it.
 */
export class Sealed<T> {
  readonly #value: T
  constructor(value: T) {
    this.#value = value
  }
  reveal(): T {
    return this.#value
  }
  toString(): string {
    return '***'
  }
  toJSON(): string {
    return '***'
  }
  [inspect.custom](): string {
    return '***'
  }
}
