/** Makes anything with `close` end with its block, also when the block throws. */
export function closing<T extends { close(): Promise<void> }>(it: T): { readonly it: T } & AsyncDisposable {
  return { it, [Symbol.asyncDispose]: () => it.close() }
}
