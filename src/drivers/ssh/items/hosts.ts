import type { HostItemOf } from '../../../model/host-item.ts'
import { change, type ItemRules } from '../item.ts'
import { blockBack, blockIn, withBlock } from './block.ts'
import { textOf, unreadable } from './line.ts'

const PATH = '/etc/hosts'

/** Names in /etc/hosts, in a separate block. */
export const hosts: ItemRules<'hosts'> = {
  type: 'hosts',
  queues: [`single/file${PATH}`],
  asks: () => [{ ask: 'file', path: PATH }],
  diff(item, seen) {
    const there = textOf(seen.file(PATH))
    if (there === undefined) return [unreadable(PATH, seen.file(PATH))]
    if (withBlock(there, item.name, wanted(item)) === there) return []
    return [change('entries', blockIn(there, item.name) ?? null, wanted(item))]
  },
  commands: (item, seen) => [
    {
      do: 'put',
      path: PATH,
      content: withBlock(textOf(seen.file(PATH)) ?? '', item.name, wanted(item)),
      mode: 0o644,
      owner: 'root',
      group: 'root',
    },
  ],
  undo: (item, seen) => blockBack(PATH, item.name, seen.file(PATH)),
}

function wanted({ spec }: HostItemOf<'hosts'>): string {
  return spec.entries.map(({ address, names }) => `${address} ${names.join(' ')}`).join('\n')
}
