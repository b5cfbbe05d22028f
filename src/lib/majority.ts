/** The number of votes that decides among so many. */
export function majority(voters: number): number {
  return Math.floor(voters / 2) + 1
}
