import type { SecretReference } from '../../model/secret.ts'

/** One thing that is done on a host, as data: it stands in the step, so the plan can show it. */
export type Command =
  | {
      readonly do: 'run'
      readonly argv: readonly string[]
      readonly input?: string
      /** Codes that mean that it went well; 0 unless said otherwise. */
      readonly ok?: readonly number[]
      readonly timeoutMs?: number
    }
  | {
      readonly do: 'put'
      readonly path: string
      readonly content?: string
      readonly secret?: SecretReference
      readonly mode?: number
      readonly owner?: string
      readonly group?: string
    }
  | { readonly do: 'remove'; readonly path: string }
  /**
   * From here on the host takes everything back by itself after so many seconds, whether or not anybody can still reach
   * it: until `disarm`.
   */
  | { readonly do: 'arm'; readonly name: string; readonly seconds: number; readonly revert: readonly Command[] }
  /** A new connection, made from nothing, must reach the host. */
  | { readonly do: 'prove' }
  | { readonly do: 'disarm'; readonly name: string }

export function run(...argv: readonly string[]): Command {
  return { do: 'run', argv }
}

/** One line for a person. */
export function showCommand(command: Command): string {
  switch (command.do) {
    case 'run':
      return command.argv.join(' ')
    case 'put':
      return `write ${command.path}`
    case 'remove':
      return `remove ${command.path}`
    case 'arm':
      return `take it back after ${command.seconds} s unless all goes well`
    case 'prove':
      return 'prove that the host can still be reached'
    case 'disarm':
      return 'keep it'
  }
}
