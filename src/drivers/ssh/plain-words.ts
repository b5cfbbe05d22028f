import type { Change } from '../../model/change.ts'
import type { HostItem, HostItemType } from '../../model/host-item.ts'
import { change } from './item.ts'

/** Fields that hold text of a person's own, which goes into files as it is and into no command. */
const FREE: { readonly [Type in HostItemType]?: readonly string[] } = {
  file: ['content'],
  block: ['content'],
  line: ['line', 'match'],
  unit: ['content', 'dropIn'],
  udev: ['rules'],
  'apt-repository': ['key'],
  module: ['options'],
  user: ['keys'],
}

/**
 * Words that end up in files which other programs read with a shell: update-grub, ifup, modprobe. None may mean more
 * there than it says. Manifests are held to stricter rules than this; it holds for whatever comes another way.
 */
const MEANINGFUL = /[\u0000-\u001f\u007f$`;|&<>"'!(){}]/
/** A way up would lead out of the folder that was meant. */
const WAY_UP = /(?:^|\/)\.\.(?:\/|$)/
/** A line of its own would be a statement of its own. Text of many lines has its own place. */
const LINES: readonly string[] = ['line', 'match', 'options', 'keys']

/** Undefined: every word of the item is only a word. */
export function objectionTo(item: HostItem): Change | undefined {
  const free = FREE[item.type] ?? []
  // What a line or block is called is made of its text.
  const named = item.type === 'line' ? [] : [['name', item.name] as const]
  for (const [field, value] of [...named, ...Object.entries(item.spec)]) {
    const wrong = (text: string) =>
      free.includes(field)
        ? LINES.includes(field) && /[\u0000\n\r]/.test(text)
        : MEANINGFUL.test(text) || WAY_UP.test(text)
    if (!leavesOf(value).some(wrong)) continue
    const blocked = {
      message: `${field} holds more than a word`,
      allow: 'write it without control characters, quotes, .. and signs that a shell reads',
    }
    return { ...change(field, null, null), blocked }
  }
  return undefined
}

/** Every text in a value, names of fields included. A reference to a secret is looked up, and no text for the host. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => [name, ...leavesOf(inner)])
  return []
}
