import { inspect } from 'node:util'

/** Where a secret's value is to be found. The value itself is never part of a declaration. */
export type SecretReference =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly secretRef: { readonly name: string; readonly namespace?: string; readonly key: string } }

/**
 * A value that must not be seen. Every way of printing it gives `***`; only `reveal` at the point of use gives the
 * text. A class because JSON, template strings and util.inspect each ask the object itself.
 */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
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
