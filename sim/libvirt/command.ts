import type { LibvirtHost } from './domains.ts'

/** What virsh prints. Text in `error` goes to stderr, and the command has failed. */
export type Said = { readonly out: string } | { readonly error: string }

/** What stands behind the name of a command. */
export interface Given {
  /** Words without a name. */
  readonly words: readonly string[]
  readonly named: ReadonlyMap<string, string>
}

export type Command = (at: LibvirtHost, given: Given, input: string | Uint8Array | undefined) => Said

export const out = (text: string): Said => ({ out: text })

export function textOf(input: string | Uint8Array | undefined): string {
  return (typeof input === 'string' ? input : new TextDecoder().decode(input)).trim()
}

const GIB = 1024 ** 3

export function bytesOf(text: string): number {
  const [, digits = '0', unit] = /^(\d+)(G)?$/.exec(text) ?? []
  return Number(digits) * (unit === 'G' ? GIB : 1)
}
