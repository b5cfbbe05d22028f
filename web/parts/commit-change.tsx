import type { CommitDiffOnPage, WaitingRowOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { plural, shortCommit } from '../format.ts'
import { useFetched } from '../hooks.ts'
import { hrefToKey } from '../route.ts'
import { SIGN_OF } from '../tone.ts'
import { Awaited } from './bits.tsx'

type FileOfDiff = CommitDiffOnPage['files'][number]
export type PlannedRow = Pick<WaitingRowOnPage, 'key' | 'do' | 'next' | 'text' | 'file'>

/** Shows a commit's changes by file, and beside each file its part of the plan. */
export function CommitChange({
  source,
  commit,
  rows,
}: {
  readonly source: string
  readonly commit: string
  readonly rows: readonly PlannedRow[]
}) {
  const fetched = useFetched(() => api.commitDiff(source, commit), [source, commit], `${source} ${commit}`)
  const diff = fetched.value
  if (diff === undefined)
    return fetched.trouble?.absent === true ? (
      <p class="muted">There is no earlier commit to compare with.</p>
    ) : (
      <Awaited fetched={fetched} />
    )
  const { beside, others, homeless } = shareOut(diff, rows)
  return (
    <div class="change">
      <p class="muted">
        {plural(diff.files.length + diff.more, 'file differs', 'files differ')} from{' '}
        <code>{shortCommit(diff.before)}</code>, the commit that was followed before. Secrets and encrypted files are
        not shown.
      </p>
      {diff.files.map((file, index) => (
        <section key={file.path} class="change-file" aria-label={`${file.path}, ${file.change}`}>
          <div class="change-diff">
            <h3 class="change-path">
              <code>{file.path}</code> <span class="muted">{file.change}</span>
            </h3>
            {file.lines.length > 0 && <Lines file={file} />}
            {file.note !== undefined && <p class="muted change-note">{file.note}</p>}
          </div>
          <Planned
            rows={beside[index] ?? []}
            none={
              file.change === 'removed' && homeless.length > 0
                ? 'What this file declared is no longer known. See below what no file declares now.'
                : 'The plan has nothing to do for this file.'
            }
          />
        </section>
      ))}
      {diff.more > 0 && <p class="muted">{plural(diff.more, 'more file is', 'more files are')} not shown.</p>}
      {homeless.length > 0 && (
        <section class="change-others" aria-label="Planned for what no file declares">
          <h3 class="change-path">
            Planned too, for what no file declares now: this commit or an earlier one removed it
          </h3>
          <Planned rows={homeless} none="" />
        </section>
      )}
      {others.length > 0 && (
        <section class="change-others" aria-label="Planned for other reasons">
          <h3 class="change-path">Planned too, from files that this commit does not change</h3>
          <Planned rows={others} none="" />
        </section>
      )}
    </div>
  )
}

function Lines({ file }: { readonly file: FileOfDiff }) {
  return (
    <pre class="code diff-lines" tabIndex={0} role="group" aria-label={`Changed lines of ${file.path}`}>
      {file.lines.map(({ sign, line, text }, index) => (
        <span key={index} class={CLASS_OF[sign]}>
          <span class="diff-number">{line ?? ''}</span>
          <span class="diff-sign">{sign}</span>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

const CLASS_OF = { '+': 'diff-added', '-': 'diff-removed', ' ': '', '…': 'diff-gap' } as const

function Planned({ rows, none }: { readonly rows: readonly PlannedRow[]; readonly none: string }) {
  if (rows.length === 0) return <p class="muted change-planned">{none}</p>
  return (
    <ul class="plain change-planned">
      {rows.slice(0, 50).map((row) => (
        <li key={`${row.key} ${row.text}`}>
          <span class="change-do">
            {SIGN_OF[row.next ?? row.do] ?? '·'} {row.next === undefined ? row.do : `${row.do}: ${row.next}`}
          </span>{' '}
          <a href={hrefToKey(row.key)}>{row.key}</a> <span class="muted">{row.text}</span>
        </li>
      ))}
      {rows.length > 50 && <li class="muted">and {rows.length - 50} more</li>}
    </ul>
  )
}

/**
 * Groups rows by the file that declares them, or declared them before. Separate groups hold rows of other files, and of
 * no file any more, because the commit that removed those is unknown.
 */
function shareOut(diff: CommitDiffOnPage, rows: readonly PlannedRow[]) {
  const fileOf = ({ key, file }: PlannedRow) =>
    diff.files.findIndex(
      ({ path, keys }) => keys.includes(key) || file === path || file?.endsWith(`${diff.source}:${path}`) === true,
    )
  const beside = diff.files.map((_, index) => rows.filter((row) => fileOf(row) === index))
  const apart = rows.filter((row) => fileOf(row) < 0)
  return {
    beside,
    homeless: apart.filter(({ file }) => file === undefined),
    others: apart.filter(({ file }) => file !== undefined),
  }
}
