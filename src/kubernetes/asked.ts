import type { Refusal } from '../model/step.ts'
import type { Foreign } from './objects.ts'

/** The result of one call. `silence`: no answer; `sent` says whether it may have taken effect all the same. */
export type Asked<T> =
  | { readonly is: 'answer'; readonly value: T }
  | { readonly is: 'error'; readonly status: number; readonly body: unknown; readonly refusal: Refusal }
  | { readonly is: 'silence'; readonly sent: 'no' | 'maybe'; readonly code: string; readonly message: string }

/** With the characters that an answer came in. */
export type MeasuredAnswer =
  | { readonly is: 'answer'; readonly value: Foreign; readonly length: number }
  | Exclude<Asked<Foreign>, { readonly is: 'answer' }>

export interface ListOptions {
  readonly fieldSelector?: string
  readonly labelSelector?: string
  /** Names and annotations only: the values of Secrets must not be transferred. */
  readonly metadataOnly?: boolean
}

export interface Listed {
  readonly items: readonly Foreign[]
  readonly resourceVersion: string
  /** Characters of the JSON that they came in. */
  readonly length: number
}
