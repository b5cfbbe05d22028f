import type { HostItemOf } from '../../../model/host-item.ts'
import type { ItemFacts } from '../ask.ts'
import { run } from '../command.ts'
import { fileAsk, fileChanges, type ItemRules, put, restoreFile } from '../item.ts'

const RESOLVED = '/etc/systemd/resolved.conf.d/croft.conf'
const PLAIN = '/etc/resolv.conf'

/** The DNS servers: through systemd-resolved if it runs, else in resolv.conf. */
export const dns: ItemRules<'dns'> = {
  type: 'dns',
  asks: (item) => [
    fileAsk(RESOLVED, resolved(item)),
    fileAsk(PLAIN, plain(item)),
    { ask: 'unit', name: 'systemd-resolved.service' },
  ],
  diff: (item, seen) => {
    const { path, text } = fileOf(item, seen)
    return fileChanges(seen.file(path), text)
  },
  commands(item, seen) {
    const { path, text } = fileOf(item, seen)
    return [...put(path, text), ...(path === RESOLVED ? [RESTART] : [])]
  },
  undo(item, seen) {
    const { path, text } = fileOf(item, seen)
    const back = restoreFile(path, seen.file(path), text)
    return back === undefined ? undefined : [...back, ...(path === RESOLVED ? [RESTART] : [])]
  },
}

const RESTART = run('systemctl', 'restart', 'systemd-resolved.service')

function fileOf(item: HostItemOf<'dns'>, seen: ItemFacts) {
  const runs = seen.unit('systemd-resolved.service').active === 'active'
  return runs ? { path: RESOLVED, text: resolved(item) } : { path: PLAIN, text: plain(item) }
}

function resolved({ spec }: HostItemOf<'dns'>): string {
  const search = spec.search.length === 0 ? '' : `Domains=${spec.search.join(' ')}\n`
  return `[Resolve]\nDNS=${spec.servers.join(' ')}\n${search}`
}

function plain({ spec }: HostItemOf<'dns'>): string {
  const search = spec.search.length === 0 ? '' : `search ${spec.search.join(' ')}\n`
  return `${search}${spec.servers.map((one) => `nameserver ${one}\n`).join('')}`
}
