/**
 * Whose a mark is: the name of the estate, and since estates have a uid, that as well: `default/3f2a9c0d1b2e4f60`. The
 * name alone is what marks had before.
 */
export function estateMark(name: string, uid: string | undefined): string {
  return uid === undefined ? name : `${name}/${uid}`
}

/**
 * Does what carries this mark belong to us? A mark without a uid was made before there were any and is judged by its name.
 * One with a uid belongs to that estate alone, also when ours has none yet.
 */
export function isOfEstate(mark: string | undefined, own: string): boolean {
  if (mark === undefined || mark === own) return true
  const [name, uid] = partsOf(mark)
  return uid === undefined && name === partsOf(own)[0]
}

/** The uid in a mark, where it has one. */
export function estateUidIn(mark: string | undefined): string | undefined {
  return mark === undefined ? undefined : partsOf(mark)[1]
}

function partsOf(mark: string): readonly [name: string, uid: string | undefined] {
  const at = mark.lastIndexOf('/')
  return at === -1 ? [mark, undefined] : [mark.slice(0, at), mark.slice(at + 1)]
}
