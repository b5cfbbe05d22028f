import { z } from 'zod'
import { CONSOLE } from './console.ts'
import { KUBECONFIG } from './kubeconfig.ts'
import { openApi } from './openapi.ts'
import { READS } from './reads.ts'
import { get, type Route } from './route.ts'
import { SECURITY_KEYS } from './security-keys.ts'
import { SIGN_IN } from './sign-in.ts'
import { WISHES } from './wishes.ts'

const DOCUMENT: Route = get('/api/openapi.json', 'This document', {
  output: z.record(z.string(), z.unknown()),
  handle: ({ version }) => openApi(ROUTES, version),
})

/** Everything that the API can do. */
export const ROUTES: readonly Route[] = [
  ...READS,
  ...WISHES,
  KUBECONFIG,
  CONSOLE,
  ...SIGN_IN,
  ...SECURITY_KEYS,
  DOCUMENT,
]
