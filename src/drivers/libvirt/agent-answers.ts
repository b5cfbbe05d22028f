import { isRecord } from '../../lib/is-record.ts'

/** Reading what a guest's agent says. The guest is not ours: wrong types and huge lists become something harmless. */

const MOST_ADDRESSES = 256

/** What is in the frame `{"return": …}`. Undefined: the agent did not answer. */
export function returned(answer: string): unknown {
  const begin = answer.indexOf('{')
  if (begin === -1) return undefined
  try {
    const parsed = JSON.parse(answer.slice(begin)) as unknown
    return isRecord(parsed) && 'return' in parsed ? parsed.return : undefined
  } catch {
    return undefined
  }
}

/** Addresses that lead to the guest: not its own loopback, and not those that no router passes on. */
export function readAddresses(answer: string): readonly string[] | undefined {
  const interfaces = returned(answer)
  if (!Array.isArray(interfaces)) return undefined
  const addresses: string[] = []
  for (const one of interfaces as readonly unknown[]) {
    const list = isRecord(one) && one.name !== 'lo' ? one['ip-addresses'] : undefined
    for (const entry of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      const text = isRecord(entry) ? entry['ip-address'] : undefined
      if (typeof text === 'string' && /^[0-9a-fA-F.:]{2,45}$/.test(text) && !/^(?:fe80:|127\.|::1$)/i.test(text))
        addresses.push(text)
      if (addresses.length >= MOST_ADDRESSES) return addresses
    }
  }
  return addresses
}

/** What guest-file-read brought. */
export function fileText(answer: string): string | undefined {
  const read = returned(answer)
  const coded = isRecord(read) ? read['buf-b64'] : undefined
  return typeof coded === 'string' ? Buffer.from(coded, 'base64').toString('utf8') : undefined
}
