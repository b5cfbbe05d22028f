/** Returns why a URL must not be passed to git; undefined if it may. Checked before git starts. */
export function refusedRemote(url: string, allowLocal = false): string | undefined {
  // Only a local path begins with a slash, and folders may have any characters.
  if (allowLocal && /^\/[^\u0000-\u001f\u007f]*$/.test(url) && url.length <= 4096 && !/\/\.\.?(?:\/|$)/.test(url))
    return undefined
  if (url.length === 0 || url.length > 1000 || /[\u0000-\u0020\u007f]/.test(url))
    return 'it is empty, too long or has spaces or control characters'
  if (url.startsWith('-')) return 'it begins with a dash'
  // Git resolves these segments: a URL that begins with an allowed prefix would end elsewhere.
  if (/(?:^|[/:])(?:\.|%2e){1,2}(?:\/|$)/i.test(url.replaceAll(/%2f/gi, '/'))) return 'it leads up by . or ..'
  if (/^https:\/\/[A-Za-z0-9.-]+(?::[0-9]{1,5})?\/[A-Za-z0-9._~%/+@-]+$/.test(url)) return undefined
  if (/^https:\/\/[^/]*@/.test(url)) return 'it carries a user or a password; use a credential helper'
  if (
    /^ssh:\/\/(?:[a-z_][a-z0-9_-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?\/[A-Za-z0-9._~/+][A-Za-z0-9._~/+-]*$/.test(
      url,
    )
  )
    return undefined
  if (/^[a-z_][a-z0-9_-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9._~/+][A-Za-z0-9._~/+-]*$/.test(url)) return undefined
  if (url.startsWith('file:'))
    return 'a repository on this computer is followed by its directory: write the path of a clone, without file://'
  return 'only https:// and ssh:// addresses are read'
}

/** Returns why a name must not be passed to git as a branch, tag or commit. */
export function refusedRef(ref: string): string | undefined {
  if (ref.length === 0 || ref.length > 250) return 'it is empty or too long'
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./@+-]*$/.test(ref)) return 'it has characters that a branch, tag or commit cannot have'
  if (ref.includes('..') || ref.includes('@{') || ref.includes('//') || ref.endsWith('.lock') || ref.endsWith('/')) {
    return 'it is not the name of one commit'
  }
  return undefined
}
