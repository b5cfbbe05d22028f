import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
  }[]
}

const require = createRequire(import.meta.url)
let program: string | undefined

/** What axe finds in the page as it stands: WCAG 2.2 AA and its best practices, each with the place. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  program ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
  // Once in each document; the debugger's way in, for which the content policy of the page makes no exception.
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(program)
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, { resultTypes: ['violations'] })`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  )
}
