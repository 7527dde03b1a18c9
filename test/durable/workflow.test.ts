import { buildWorkflow } from './engines/workflow/server.ts';
import { testRecipe } from './recipe.ts';

testRecipe('workflow', buildWorkflow);
