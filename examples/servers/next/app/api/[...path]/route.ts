// Next. The client of its pages has { apiKey: null, baseURL: '/api', maxRetries: 0 }; handler.ts is beside `app`.
import { handle } from '@/handler';

export { handle as POST };
