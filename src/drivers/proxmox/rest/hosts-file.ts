import type { SettingValue } from '../../../model/rest.ts'

/** Lines of a hosts file; comments and empty lines are passed over. */
export function parseHosts(text: string): { readonly address: string; readonly hostnames: readonly string[] }[] {
  return text.split('\n').flatMap((line) => {
    const [address, ...hostnames] = (line.split('#', 1)[0] ?? '').split(/\s+/).filter((word) => word !== '')
    return address === undefined || hostnames.length === 0 ? [] : [{ address, hostnames }]
  })
}

/** A hosts file with these entries. What people wrote in whole lines of comment stays, at the top. */
export function printHosts(entries: readonly SettingValue[], before: string): string {
  const comments = before.split('\n').filter((line) => line.trimStart().startsWith('#'))
  const lines = (entries as readonly { readonly address: string; readonly hostnames: readonly string[] }[]).map(
    ({ address, hostnames }) => `${address} ${hostnames.join(' ')}`,
  )
  return `${[...comments, ...lines].join('\n')}\n`
}
