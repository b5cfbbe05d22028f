import { run } from '../command.ts'
import { change, fileAsk, fileChanges, type ItemRules, put, restoreFile } from '../item.ts'

const PATH = '/etc/hostname'

/** The host's own name. */
export const hostname: ItemRules<'hostname'> = {
  type: 'hostname',
  asks: ({ spec }) => [fileAsk(PATH, `${spec.hostname}\n`), { ask: 'sysctl', key: 'kernel.hostname' }],
  diff({ spec }, seen) {
    const kept = fileChanges(seen.file(PATH), `${spec.hostname}\n`)
    const live = seen.sysctl('kernel.hostname')?.trim()
    return [...kept, ...(live === spec.hostname ? [] : [change('hostname', live ?? null, spec.hostname)])]
  },
  commands: ({ spec }) => [...put(PATH, `${spec.hostname}\n`), run('hostname', '--', spec.hostname)],
  undo({ spec }, seen) {
    const back = restoreFile(PATH, seen.file(PATH), `${spec.hostname}\n`)
    const live = seen.sysctl('kernel.hostname')?.trim()
    return back === undefined || live === undefined ? undefined : [...back, run('hostname', '--', live)]
  },
}
