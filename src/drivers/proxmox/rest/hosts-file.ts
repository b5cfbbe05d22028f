import type { SettingValue } from '../../../model/rest.ts'

/** Parses the lines of a hosts file, without comments and empty lines. */
export function parseHosts(text: string): { readonly address: string; readonly hostnames: readonly string[] }[] {
  return text.split('\n').flatMap((line) => {
    const [address, ...hostnames] = (line.split('#', 1)[0] ?? '').split(/\s+/).filter((word) => word !== '')
    return address === undefined || hostnames.length === 0 ? [] : [{ address, hostnames }]
  })
}

/** Prints a hosts file with these entries. People's comment lines stay, at the top. */
export function printHosts(entries: readonly SettingValue[], before: string): string {
  const comments = before.split('\n').filter((line) => line.trimStart().startsWith('#'))
  const lines = (entries as readonly { readonly address: string; readonly hostnames: readonly string[] }[]).map(
    ({ address, hostnames }) => `${address} ${hostnames.join(' ')}`,
  )
  return `${[...comments, ...lines].join('\n')}\n`
}
