/** Returns the queue of effects on one host. */
export function hostQueue(host: string): string {
  return `host/${host}`
}
