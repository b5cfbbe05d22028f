import { KINDS } from '../../kinds/registry.ts'

/** Groups that no kind of croft's, of Crossplane's provider or of a user's own API is in. */
const OF_KUBERNETES =
  /^(?:v1|(?:apps|batch|autoscaling|policy|extensions|argoproj\.io)\/.*|.*(?:\.|x-)(?:k8s|fluxcd)\.io\/.*)$/
const OURS = /(?:croft\.dev|crossplane\.io|kro\.run)\//

/**
 * Returns why an unreadable text cannot be a declaration of ours, however it is corrected; undefined if it may be one.
 * Only the former may be skipped: a broken declaration of ours must not count as removed.
 */
export function brokenOfOthers(text: string): string | undefined {
  const plain = plainText(text)
  if (valuesOf(plain, 'apiVersion').length > 0) return otherPrograms(text)
  return isOfAnsible(plain) && !namesOurs(text) ? 'it holds variables of Ansible and no field of a manifest' : undefined
}

/** A variable at the left edge that is an expression, and no word that every manifest has, not even misspelt in its letters' size. */
function isOfAnsible(text: string): boolean {
  return (
    /^[a-z][a-z0-9_]*:[ \t]+["']?\{\{[^}\n]*\}\}/m.test(text) &&
    !/^[\s{,-]*["']?(?:api-?version|kind|metadata|spec)["']?[ \t]*:/im.test(text)
  )
}

/** Returns why a text holds no declaration of ours. */
export function otherPrograms(text: string): string | undefined {
  if (namesOurs(text)) return undefined
  const plain = plainText(text)
  const versions = valuesOf(plain, 'apiVersion')
  if (versions.length === 0) return /api-?version/i.test(plain) ? undefined : 'it names no apiVersion'
  if (!versions.every((version) => OF_KUBERNETES.test(version))) return undefined
  return `what it names (${[...new Set(versions)].slice(0, 3).join(', ')}) is not croft's`
}

/** Reports whether a text names a built-in group or kind of croft. */
export function namesOurs(text: string): boolean {
  const kinds = valuesOf(plainText(text), 'kind')
  return namesOurGroup(text) || kinds.some((kind) => KINDS.some((known) => known.kind === kind))
}

/** Reports whether a document names one of our groups. It may be a machine, even if the rest is broken. */
export function namesOurGroup(text: string): boolean {
  return OURS.test(plainText(text))
}

/** UTF-16 has a zero in every second byte of a plain letter, and a mark at its beginning that is no letter at all. */
function plainText(text: string): string {
  return text.replaceAll(/[\0\ufeff\ufffd]/g, '')
}

/** Every value of a field, wherever it stands, in YAML and in JSON. */
function valuesOf(text: string, field: string): readonly string[] {
  const pattern = new RegExp(`(?:^|[\\s{,-])["']?${field}["']?[ \\t]*:[ \\t]*["']?([^\\s"',}#]*)`, 'gm')
  return [...text.matchAll(pattern)].map(([, value = '']) => value)
}
