import { inspect } from 'node:util'

/**
 * A value that must not be seen, printed or written down with what carries it. Every way of printing it gives `***`. A
 * class because JSON, template strings and util.inspect each ask the object itself.
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
