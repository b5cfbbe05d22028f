/** Reports whether the answer to a [y/N] question is yes, as a letter or a word. */
export function saidYes(answer: string | undefined): boolean {
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim())
}
