// A Vulkan layer that loses the device. From submission PZ_LOSE_AT on, vkQueueSubmit returns
// VK_ERROR_DEVICE_LOST if PZ_LOSE_IN is "submit". If it is "wait", all calls that look for the end of a
// submission do. TestVulkanLoss builds it. The types mirror those of vulkan.h and vk_layer.h.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { lost = -4, instance_link = 47, device_link = 48 }; // VK_ERROR_DEVICE_LOST, VkStructureType

typedef void (*function)(void);
typedef function (*finder)(void *handle, char const *name);

typedef struct link { struct link *next; finder instance, device; } link; // VkLayerDeviceLink
typedef struct info { // VkLayerInstanceCreateInfo, VkLayerDeviceCreateInfo
	int type;
	struct info *next;
	int function; // 0: u is a link
	link *u;
} info;
typedef struct { int type; info *next; } description; // VkInstanceCreateInfo, VkDeviceCreateInfo
typedef struct { // VkNegotiateLayerInterface
	int type;
	void *next;
	uint32_t version;
	finder instance, device, physical;
} negotiation;

static finder next_instance, next_device;
static void *instance;
static int submissions;

static int loses(char const *where) {
	char const *at = getenv("PZ_LOSE_AT"), *in = getenv("PZ_LOSE_IN");
	return at != NULL && in != NULL && submissions >= atoi(at) && strcmp(in, where) == 0;
}

// Functions that the layer replaces, and those behind it.
static int (*submit)(void *, uint32_t, void const *, uint64_t);
static int (*counter)(void *, uint64_t, uint64_t *);
static int (*fence)(void *, uint64_t);
static int (*fences)(void *, uint32_t, uint64_t const *, uint32_t, uint64_t);
static int (*semaphores)(void *, void const *, uint64_t);

static int my_submit(void *queue, uint32_t n, void const *list, uint64_t f) {
	submissions++;
	return loses("submit") ? lost : submit(queue, n, list, f);
}
static int my_counter(void *device, uint64_t s, uint64_t *value) {
	return loses("wait") ? lost : counter(device, s, value);
}
static int my_fence(void *device, uint64_t f) { return loses("wait") ? lost : fence(device, f); }
static int my_fences(void *device, uint32_t n, uint64_t const *list, uint32_t all, uint64_t timeout) {
	return loses("wait") ? lost : fences(device, n, list, all, timeout);
}
static int my_semaphores(void *device, void const *list, uint64_t timeout) {
	return loses("wait") ? lost : semaphores(device, list, timeout);
}

// take returns the link to the next layer, and advances it for that one.
static link *take(description const *d, int type) {
	info *i = d->next;
	while (i->type != type || i->function != 0) {
		i = i->next;
	}
	link *l = i->u;
	i->u = l->next;
	return l;
}

static int create_instance(description const *d, void const *allocator, void **result) {
	next_instance = take(d, instance_link)->instance;
	int (*create)(description const *, void const *, void **) =
		(int (*)(description const *, void const *, void **))next_instance(NULL, "vkCreateInstance");
	int status = create(d, allocator, result);
	instance = *result;
	return status;
}

static void find(void *device, void *to, char const *name, char const *other) {
	function f = next_device(device, name);
	if (f == NULL) {
		f = next_device(device, other);
	}
	memcpy(to, &f, sizeof f);
}

static int create_device(void *physical, description const *d, void const *allocator, void **result) {
	link *l = take(d, device_link);
	next_device = l->device;
	int (*create)(void *, description const *, void const *, void **) =
		(int (*)(void *, description const *, void const *, void **))l->instance(instance, "vkCreateDevice");
	int status = create(physical, d, allocator, result);
	if (status == 0) {
		submissions = 0;
		find(*result, &submit, "vkQueueSubmit", "");
		find(*result, &counter, "vkGetSemaphoreCounterValue", "vkGetSemaphoreCounterValueKHR");
		find(*result, &fence, "vkGetFenceStatus", "");
		find(*result, &fences, "vkWaitForFences", "");
		find(*result, &semaphores, "vkWaitSemaphores", "vkWaitSemaphoresKHR");
	}
	return status;
}

static function of_device(void *device, char const *name);
static function of_instance(void *handle, char const *name);

static const struct { char const *name; function f; } own[] = {
	{ "vkGetInstanceProcAddr", (function)of_instance }, { "vkCreateInstance", (function)create_instance },
	{ "vkCreateDevice", (function)create_device }, { "vkGetDeviceProcAddr", (function)of_device },
	{ "vkQueueSubmit", (function)my_submit }, { "vkGetSemaphoreCounterValue", (function)my_counter },
	{ "vkGetSemaphoreCounterValueKHR", (function)my_counter }, { "vkGetFenceStatus", (function)my_fence },
	{ "vkWaitForFences", (function)my_fences }, { "vkWaitSemaphores", (function)my_semaphores },
	{ "vkWaitSemaphoresKHR", (function)my_semaphores },
};

static function own_function(char const *name) {
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		if (strcmp(own[i].name, name) == 0) {
			return own[i].f;
		}
	}
	return NULL;
}

static function of_device(void *device, char const *name) {
	function f = own_function(name);
	return f != NULL ? f : next_device(device, name);
}

static function of_instance(void *handle, char const *name) {
	function f = own_function(name);
	return f != NULL || next_instance == NULL ? f : next_instance(handle, name);
}

int vkNegotiateLoaderLayerInterfaceVersion(negotiation *n) {
	n->version = 2;
	n->instance = of_instance;
	n->device = of_device;
	n->physical = NULL;
	return 0;
}
