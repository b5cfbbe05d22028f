import { createHmac } from 'node:crypto'
import { sshKey } from '../../../kinds/fields/text.ts'
import { LIMITS } from '../../../lib/limits.ts'

interface KnownKey {
  readonly names: readonly string[]
  readonly key: string
}

/** The lines of a known_hosts file that pin a key to a name, hashed names included. Revoked keys are left out. */
export function readKnownHosts(text: string): (address: string, port: number) => readonly string[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, LIMITS.inventory.knownHosts)
  const revoked = new Set(lines.filter((line) => line.startsWith('@revoked')).map((line) => line.split(/\s+/)[3]))
  const known: KnownKey[] = lines.flatMap((line) => {
    const [names = '', type = '', key = ''] = line.split(/\s+/)
    if (names.startsWith('@') || revoked.has(key)) return []
    const parsed = sshKey.safeParse(`${type} ${key}`)
    return parsed.success ? [{ names: names.split(','), key: parsed.data }] : []
  })
  return (address, port) => {
    const name = port === 22 ? address : `[${address}]:${port}`
    const found = known.filter(({ names }) => names.some((one) => one === name || isHashOf(one, name)))
    return [...new Set(found.map(({ key }) => key))].slice(0, 10)
  }
}

/** `|1|salt|hash`, as ssh writes it with HashKnownHosts. */
function isHashOf(written: string, name: string): boolean {
  const [, salt, hash] = /^\|1\|([A-Za-z0-9+/=]{1,100})\|([A-Za-z0-9+/=]{1,100})$/.exec(written) ?? []
  if (salt === undefined || hash === undefined) return false
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash
}
