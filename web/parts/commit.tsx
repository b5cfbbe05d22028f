import type { Page } from '../../src/server/api/schemas.ts'
import { shortCommit } from '../format.ts'
import { hrefTo } from '../route.ts'
import { Icon } from './icon.tsx'

/** Shows the commit that asks for a change, with author and subject if it is the current one. */
export function CommitOf({ page, commit }: { readonly page: Page; readonly commit: string | undefined }) {
  if (commit === undefined) return null
  const known = page.sources.find((source) => source.commit === commit)
  const title = known === undefined ? commit : `${known.subject ?? ''} (${known.author ?? ''})`
  return (
    <a class="commit" href={hrefTo('timeline')} title={title}>
      <Icon name="commit" size={14} />
      <code>{shortCommit(commit)}</code>
    </a>
  )
}
