import { z } from 'zod'
import { openApi } from './openapi.ts'
import { READS } from './reads.ts'
import { type Route, route } from './route.ts'
import { SECURITY_KEYS } from './security-keys.ts'
import { SIGN_IN } from './sign-in.ts'
import { WISHES } from './wishes.ts'

const DOCUMENT: Route = route({
  method: 'GET',
  path: '/api/openapi.json',
  summary: 'This document',
  scope: 'read',
  input: z.object({}),
  output: z.record(z.string(), z.unknown()),
  handle: ({ version }) => openApi(ROUTES, version),
})

/** Everything that the API can do. */
export const ROUTES: readonly Route[] = [...READS, ...WISHES, ...SIGN_IN, ...SECURITY_KEYS, DOCUMENT]
