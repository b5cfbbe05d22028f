import type { Page } from 'playwright-core'

/** One thing as a screen reader is told of it. */
interface Told {
  readonly role: string
  readonly name: string
  readonly level: number
  readonly live: string
  readonly parent: string | undefined
  readonly id: string
}

interface AxValue {
  readonly value?: string | number | boolean
}
interface AxNode {
  readonly nodeId: string
  readonly parentId?: string
  readonly childIds?: readonly string[]
  readonly ignored: boolean
  readonly role?: AxValue
  readonly name?: AxValue
  readonly properties?: readonly { readonly name: string; readonly value: AxValue }[]
}

/** The page as Chromium tells it to a screen reader, in the order of reading. */
export async function told(page: Page): Promise<readonly Told[]> {
  const session = await page.context().newCDPSession(page)
  try {
    const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { readonly nodes: readonly AxNode[] }
    const byId = new Map(nodes.map((node) => [node.nodeId, node]))
    const parentOf = (node: AxNode): string | undefined => {
      const parent = byId.get(node.parentId ?? '')
      return parent === undefined || !parent.ignored ? parent?.nodeId : parentOf(parent)
    }
    // The tree comes in any order; it is read from top to bottom.
    const read = (node: AxNode | undefined): readonly AxNode[] =>
      node === undefined ? [] : [node, ...(node.childIds ?? []).flatMap((id) => read(byId.get(id)))]
    return read(nodes.find(({ parentId }) => parentId === undefined))
      .filter(({ ignored }) => !ignored)
      .map((node) => {
        const of = (name: string) => node.properties?.find((one) => one.name === name)?.value.value
        return {
          id: node.nodeId,
          parent: parentOf(node),
          role: String(node.role?.value ?? ''),
          name: String(node.name?.value ?? '').trim(),
          level: Number(of('level') ?? 0),
          live: String(of('live') ?? ''),
        }
      })
  } finally {
    await session.detach()
  }
}

const NAMED = new Set(
  'button link checkbox textbox searchbox combobox listbox tab dialog navigation image img meter progressbar region group table list'.split(
    ' ',
  ),
)
/** Lists, groups and images that only hold things together need no name of their own. */
const MAY_BE_NAMELESS = new Set(['list', 'group', 'table'])

/** What a person who cannot see the page would miss, in words; nothing when all is told. */
export function missed(all: readonly Told[]): readonly string[] {
  const wrong: string[] = []
  for (const { role, name } of all)
    if (NAMED.has(role) && !MAY_BE_NAMELESS.has(role) && name === '') wrong.push(`a ${role} has no name`)
  const headings = all.filter(({ role }) => role === 'heading')
  const inDialog = all.some(({ role }) => role === 'dialog')
  if (!inDialog && headings.filter(({ level }) => level === 1).length !== 1)
    wrong.push(`headings of the first level: ${headings.filter(({ level }) => level === 1).length}`)
  headings.forEach(({ level, name }, index) => {
    if (name === '') wrong.push('a heading has no words')
    const before = headings[index - 1]?.level ?? (inDialog ? 1 : 0)
    if (level > before + 1) wrong.push(`heading "${name}" of level ${level} after one of level ${before}`)
  })
  const within = (one: Told, id: string): boolean => {
    if (one.parent === undefined) return false
    if (one.parent === id) return true
    const parent = all.find((candidate) => candidate.id === one.parent)
    return parent !== undefined && within(parent, id)
  }
  for (const table of all.filter(({ role }) => role === 'table')) {
    const heads = all.filter((one) => one.role === 'columnheader' && within(one, table.id))
    if (heads.length === 0 || heads.some(({ name }) => name === ''))
      wrong.push('a table without the heads of its columns')
  }
  if (!inDialog && all.filter(({ role }) => role === 'main').length !== 1) wrong.push('not one main part')
  return wrong
}
