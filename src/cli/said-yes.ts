/** Whether somebody answered a question that ends with [y/N] with yes, as a letter or a word. */
export function saidYes(answer: string | undefined): boolean {
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim())
}
