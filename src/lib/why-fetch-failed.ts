/** Returns why `fetch` failed. Its own message never varies; the cause has the reason: `ECONNREFUSED`. */
export function whyFetchFailed(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'no answer'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
