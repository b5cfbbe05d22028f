import type { Page } from '../../src/server/api/schemas.ts'
import { shortCommit } from '../format.ts'
import { hrefTo } from '../route.ts'
import { Icon } from './icon.tsx'

/** The commit that asks for something, beside it; who made it and why where it is the one in force. */
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
