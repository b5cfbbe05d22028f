/** What two effects on one host line up for. */
export function hostQueue(host: string): string {
  return `host/${host}`
}
