import type { Command } from '../../model/command.ts'

export type { Command }

export function run(...argv: readonly string[]): Command {
  return { do: 'run', argv }
}

/** Returns one line for display. */
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
