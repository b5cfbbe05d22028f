/** The words of a text, between which are spaces and line breaks: a long list of names that reads as one. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordList(text))
}
