import type { HostItemOf } from '../../../model/host-item.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'

/**
 * A person's command. It runs only while its result is missing, and the result must exist afterwards: a command without
 * effect would run again in every pass.
 */
export const command: ItemRules<'command'> = {
  type: 'command',
  asks: ({ spec }) => [
    ...(spec.creates === undefined ? [] : [{ ask: 'file', path: spec.creates } as const]),
    ...(spec.unless === undefined ? [] : [{ ask: 'run', argv: spec.unless } as const]),
  ],
  diff({ spec }, seen) {
    const done =
      (spec.creates !== undefined && seen.file(spec.creates).kind !== 'absent') ||
      (spec.unless !== undefined && seen.run(...spec.unless).code === 0)
    return done ? [] : [change('run', null, spec.run.join(' '))]
  },
  commands: ({ name, spec }) => [
    { do: 'run', argv: inFolder(spec), timeoutMs: (spec.timeoutSeconds ?? 300) * 1000 },
    ...(spec.creates === undefined
      ? []
      : [proof(name, `${spec.creates} is still not there`, ['test', '-e', spec.creates])]),
    ...(spec.unless === undefined ? [] : [proof(name, `${spec.unless.join(' ')} still fails`, spec.unless)]),
  ],
}

function inFolder({ run: argv, directory }: HostItemOf<'command'>['spec']): readonly string[] {
  return directory === undefined ? argv : ['env', '-C', directory, ...argv]
}

/** Fails with a sentence, since the program itself gives only a number. */
function proof(name: string, said: string, argv: readonly string[]): Command {
  return run(
    'sh',
    '-c',
    'said=$1; shift; "$@" && exit 0; echo "$said"; exit 3',
    'sh',
    `the command ${name} ran, and ${said}`,
    ...argv,
  )
}
