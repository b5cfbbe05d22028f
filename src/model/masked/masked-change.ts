import type { Change } from '../resource.ts'
import { maskTree } from './masked-tree.ts'
import { hiddenOf } from './secret-fields.ts'

/** Returns a change for display: values with a secret path or secret content are masked. Pure. */
export function maskChange(change: Change): Change {
  if (change.secret === true) return { ...change, ...bothHidden(change) }
  const { name, parent, entry } = placeOf(change.path)
  const sibling = (field: string) => (field === 'name' ? entry : undefined)
  if (hiddenOf({ name, parent, sibling }) !== 'none') return { ...change, ...bothHidden(change), secret: true }
  return { ...change, from: maskTree(change.from, name), to: maskTree(change.to, name) }
}

function bothHidden({ from, to }: Change): Pick<Change, 'from' | 'to'> {
  const hidden = (value: unknown) => (value === undefined || value === null || value === '' ? value : '***')
  return { from: hidden(from), to: hidden(to) }
}

/** Splits a path: `spec.env[name=TOKEN].value` is the field `value` of the entry TOKEN in `env`. */
function placeOf(path: string): { readonly name: string; readonly parent: string; readonly entry: string | undefined } {
  const steps = [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inside, name]) => ({ inside, name }))
  const names = steps.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const lastName = steps.findLastIndex(({ name }) => name !== undefined)
  const before = steps[lastName - 1]?.inside
  const entry = before === undefined ? undefined : /(?:^|,)name=([^,]*)/.exec(before)?.[1]
  return { name: names.at(-1) ?? '', parent: names.at(-2) ?? '', entry }
}
